"""The student's own machine and notebook: is everything installed, and is the notebook fit to hand in?"""

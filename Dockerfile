# The grader in a container: docker build -t autograder . && docker run --rm -v "$PWD:/work" autograder grade ...
# What the sandbox keeps inside of one, and which options of `docker run` give it more: docs/lms.md.
FROM python:3.12-slim
COPY pyproject.toml requirements.lock README.md LICENSE /course/
COPY autograder /course/autograder
COPY course_lib /course/course_lib
COPY data /course/data
RUN pip install --no-cache-dir --constraint /course/requirements.lock "/course[autograder,frameworks]"
COPY notebooks/assignments /course/notebooks/assignments
WORKDIR /course
ENTRYPOINT ["autograder"]
CMD ["doctor"]

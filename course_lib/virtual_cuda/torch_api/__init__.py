"""What programs see: torch's own functions and classes, replaced while virtual CUDA is on. Imported on switch-on."""

# Busy in numpy.
import numpy

numbers = numpy.random.default_rng(1).random((300, 300))
while True:
    numpy.linalg.svd(numbers)
    numpy.sort(numbers @ numbers, axis=1)
    numpy.fft.fft2(numbers)

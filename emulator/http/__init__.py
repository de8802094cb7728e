"""HTTP as both faces of the emulator speak it: requests read for shape, answers and problems. Knows neither of them."""

class Basket:
	size = 1

	def count(self):
		return 0

	def total(self):
		# never less than two
		first = 2
		return first

HELP = """
usage: shop

second

third and last
"""

HELP = """
usage: shop

second

third
"""

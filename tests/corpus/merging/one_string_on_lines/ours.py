HELP = """
usage: shop [path]

second

third
"""

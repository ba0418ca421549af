HELP = """
usage: shop

    # not a comment
    def not_code(): ...
"""
WIDTH = 80

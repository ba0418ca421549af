HELP = """
usage: shop [path]

    # not a comment
    def not_code(): ...
"""
WIDTH = 100

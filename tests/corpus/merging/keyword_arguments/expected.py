parser.add_argument("path", help="the file", nargs="?", type=str)

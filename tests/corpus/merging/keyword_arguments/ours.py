parser.add_argument("path", help="the file", type=str)

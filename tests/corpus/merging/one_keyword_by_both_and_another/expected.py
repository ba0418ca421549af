run("build", jobs=4, quiet=True)

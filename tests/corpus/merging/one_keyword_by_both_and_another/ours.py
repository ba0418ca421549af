run("build", jobs=4)

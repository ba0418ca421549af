run("build", "--quiet")

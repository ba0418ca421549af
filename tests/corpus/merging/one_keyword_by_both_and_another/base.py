run("build")

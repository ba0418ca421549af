run("build", "--fast")

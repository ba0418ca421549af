if ready: run()
if late: wait()
while busy: sleep(2)

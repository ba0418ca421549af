if ready: run(1)
if late: wait()
while busy: sleep()

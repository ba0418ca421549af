package shop

func before() {}

func broken() {
	call(
}

func after() {}

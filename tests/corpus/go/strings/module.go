package shop

var text = `
func no() {
}
`

/*
func no() {}
*/

// about yes

// directly above
func yes() string {
	return "}" + `{`
}

func generic[K comparable, V any](values map[K]V) []K { return nil }

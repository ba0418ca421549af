package shop

// a note of the group
type (
	// Item is one.
	Item struct {
		Name string
	}

	Price = int
	Seller interface {
		// Sell is about selling.
		Sell(item Item) error
		Close()
	}
)

type Celsius float64

var (
	limit = 3
	first = func() int { return 1 }
)

const (
	A = iota
	B
)

var handler = func() {
	run()
}

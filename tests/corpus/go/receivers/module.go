package shop

import "fmt"

// Store keeps goods.
type Store struct {
	items map[string]int
}

// Get is about a pointer.
func (s *Store) Get(name string) int {
	return s.items[name]
}

func (s Store) Len() int { return len(s.items) }

func (l *List[T]) Push(value T) {}
func (pkg.Other) Foreign() {}

func Get(name string) int {
	fmt.Println(name)
	return 0
}

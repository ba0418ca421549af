package shapes

import (
	"fmt"
	"strings"
)

const limit = 10

const (
	red   = 1
	green = 2
)

const (
	first = iota
	second
)

var words = []string{"first", "second"}

var named = map[string]int{"first": 1, "second": 2}

type sized interface {
	size() int
}

type point struct {
	X int `json:"x"`
	Y int `json:"y"`
}

type shape struct {
	width  int
	height int
}

func (it *shape) size() int {
	total := it.width * it.height
	if total > limit {
		total = limit
	}
	return total
}

func (it *shape) grown(by int) *shape {
	return &shape{width: it.width + by, height: it.height}
}

func total(shapes []sized, start int) int {
	seen := []int{}
	result := start
	for _, each := range shapes {
		result += each.size()
		seen = append(seen, result)
	}
	if len(seen) == 0 {
		return start
	}
	return result
}

func numbered(word string) int {
	switch word {
	case "none":
		return 0
	case "one":
		return 1
	}
	return named[strings.ToLower(word)]
}

func check() int {
	shapes := []sized{&shape{1, 2}, &shape{width: 2, height: 3}}
	larger := (&shape{3, 4}).grown(2)
	origin := point{0, 0}
	fmt.Println(larger, origin, red, green, first, second, words)
	return total(shapes, 1) + numbered("first")
}

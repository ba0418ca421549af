package p

import (
	"bytes"
	"io"
	"os"
)

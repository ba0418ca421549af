package p

import (
	"bytes"
	"net/http"
	"io"
	"os"
)

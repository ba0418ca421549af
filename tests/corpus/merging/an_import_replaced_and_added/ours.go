package p

import (
	"bytes"
	"net/http"
	"os"
)

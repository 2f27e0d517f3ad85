// Renders templates as Helm does, with its template engine and its functions: reads JSON, writes JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
)

type request struct {
	Templates map[string]string
	Top       map[string]interface{}
}

func main() {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	rendered := map[string]string{}
	for name, text := range asked.Templates {
		parsed, err := template.New(name).Option("missingkey=error").Funcs(sprig.TxtFuncMap()).Parse(text)
		if err != nil {
			fail(err)
		}
		var written strings.Builder
		if err := parsed.Execute(&written, asked.Top); err != nil {
			fail(err)
		}
		rendered[name] = written.String()
	}
	if err := json.NewEncoder(os.Stdout).Encode(rendered); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

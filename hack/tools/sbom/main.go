// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command sbom writes what a Go program was built from as an SPDX 2.3 document in JSON. It reads nothing but the program, in
// which the compiler has noted its modules, and the same program always makes the same document.
package main

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spdx/tools-golang/json"
)

func main() {
	if err := run(os.Args[1:]); errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: sbom [flags] <program>")
		flags.PrintDefaults()
	}
	version := flags.String("version", "", "`version` of the program")
	created := flags.Int64("created", 0, "when the document is said to be made, in `seconds` since the epoch")
	output := flags.String("output", "", "`file` to write the document to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *version == "":
		return errors.New("-version is required")
	case *output == "":
		return errors.New("-output is required")
	case flags.NArg() != 1:
		return fmt.Errorf("expected one program, got %d", flags.NArg())
	}

	program := flags.Arg(0)
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("reading what %s was built from: %w", program, err)
	}
	contents, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	document := newDocument(info, filepath.Base(program), *version, contents, time.Unix(*created, 0))
	var written bytes.Buffer
	if err := json.Write(document, &written, json.Indent("  ")); err != nil {
		return fmt.Errorf("encoding the document: %w", err)
	}
	return os.WriteFile(*output, written.Bytes(), 0o644)
}

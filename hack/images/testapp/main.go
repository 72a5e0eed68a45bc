// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command testapp is an application for tests of a cluster: a web server that reports its version and its configuration, and that
// fails on request in the ways of applications.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:]); errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "testapp:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("testapp", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), `usage: testapp [flags]                serve
       testapp [flags] append FILE LINE   add a line to a file
       testapp [flags] get URL            print what a server answers
       testapp [flags] copy               print what is on the standard input
       testapp [flags] count INTERVAL [N] print numbered lines, at the end a hundred at once (N: end after so many)
       testapp [flags] exit CODE          fail with that code`)
		flags.PrintDefaults()
	}
	var app application
	flags.StringVar(&app.version, "version", "", "what the application says it is")
	statusFile := flags.String("status-file", "", "file with the HTTP status of responses with the version (default 200)")
	flags.IntVar(&app.port, "port", 80, "TCP port to listen on")
	flags.DurationVar(&app.listenAfter, "listen-after", 0, "how long the start takes until the port is open")
	memory := flags.Int("memory", 0, "mebibytes of memory to take at the start")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() == 0:
		var err error
		if app.status, err = readStatus(*statusFile); err != nil {
			return err
		}
		app.memory.take(*memory)
		return app.serve()
	case flags.Arg(0) == "append" && flags.NArg() == 3:
		return appendLine(flags.Arg(1), flags.Arg(2))
	case flags.Arg(0) == "get" && flags.NArg() == 2:
		return get(flags.Arg(1))
	case flags.Arg(0) == "copy" && flags.NArg() == 1:
		_, err := io.Copy(os.Stdout, os.Stdin)
		return err
	case flags.Arg(0) == "count" && (flags.NArg() == 2 || flags.NArg() == 3):
		return count(os.Stdout, flags.Arg(1), flags.Arg(2))
	case flags.Arg(0) == "exit" && flags.NArg() == 2:
		code, err := strconv.Atoi(flags.Arg(1))
		if err != nil {
			return fmt.Errorf("reading the code: %w", err)
		}
		os.Exit(code)
	}
	return fmt.Errorf("cannot do %q, see -help", flags.Args())
}

func appendLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, line)
	return errors.Join(err, file.Close())
}

func get(url string) error {
	client := &http.Client{Timeout: 10 * time.Second}
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

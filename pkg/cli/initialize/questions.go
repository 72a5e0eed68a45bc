// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package initialize

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// question is one that is asked until its answer can be used.
type question struct {
	text string
	// isAnswered is that a flag says it.
	isAnswered bool
	// take uses the answer, "" for none, or says what would be right.
	take func(answer string) error
}

// ask asks, on the standard error, for what no flag says.
func (o *Options) ask() error {
	answers := bufio.NewReader(o.In)
	for _, q := range o.questions() {
		for !q.isAnswered {
			fmt.Fprint(o.ErrOut, q.text+" ")
			line, err := answers.ReadString('\n')
			if err != nil && (!errors.Is(err, io.EOF) || line == "") {
				fmt.Fprintln(o.ErrOut)
				return fmt.Errorf("reading the answer: %w", err)
			}
			if err := q.take(strings.TrimSpace(line)); err != nil {
				fmt.Fprintln(o.ErrOut, err)
				continue
			}
			break
		}
	}
	return nil
}

func (o *Options) questions() []question {
	return []question{
		{"Name of the box?", o.name != "", required(&o.name, "a name, such as web")},
		{"Image?", o.Image != "", required(&o.Image, "an image, such as nginx:1.7.9")},
		{"How many pods? [1]", o.Replicas != 1, func(answer string) error {
			if answer == "" {
				return nil
			}
			replicas, err := strconv.ParseInt(answer, 10, 32)
			if err != nil || replicas < 0 {
				return errors.New("a number is expected, such as 2")
			}
			o.Replicas = int32(replicas)
			return nil
		}},
		{"Ports that it serves, such as 80 or 80:8080, with blanks between them? [none]", len(o.Ports) > 0, func(answer string) error {
			for _, text := range strings.Fields(answer) {
				if _, err := parsePort(text); err != nil {
					return fmt.Errorf("%s: %w", text, err)
				}
			}
			o.Ports = strings.Fields(answer)
			return nil
		}},
		{"Hosts that an Ingress serves it for, such as shop.example.com? [none]", len(o.Hosts) > 0, func(answer string) error {
			if o.Hosts = strings.Fields(answer); len(o.Hosts) > 0 && len(o.Ports) == 0 {
				o.Hosts = nil
				return errors.New("an Ingress needs a port: there is none")
			}
			return nil
		}},
	}
}

// required takes an answer that may not be missing.
func required(to *string, what string) func(string) error {
	return func(answer string) error {
		if answer == "" {
			return fmt.Errorf("it needs %s", what)
		}
		*to = answer
		return nil
	}
}

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
		{"Name?", o.name != "", required(&o.name, "a name is required, such as web")},
		{"Image?", o.Image != "", required(&o.Image, "an image is required, such as nginx:1.7.9")},
		{"Number of pods? [1]", o.Replicas != 1, func(answer string) error {
			if answer == "" {
				return nil
			}
			replicas, err := strconv.ParseInt(answer, 10, 32)
			if err != nil || replicas < 0 {
				return errors.New("must be a number, such as 2")
			}
			o.Replicas = int32(replicas)
			return nil
		}},
		{"Ports, separated by spaces (for example 80 443:8443)? [none]", len(o.Ports) > 0, func(answer string) error {
			for _, text := range strings.Fields(answer) {
				if _, err := parsePort(text); err != nil {
					return fmt.Errorf("%s: %w", text, err)
				}
			}
			o.Ports = strings.Fields(answer)
			return nil
		}},
		{"Ingress hosts, separated by spaces (for example shop.example.com)? [none]", len(o.Hosts) > 0, func(answer string) error {
			if o.Hosts = strings.Fields(answer); len(o.Hosts) > 0 && len(o.Ports) == 0 {
				o.Hosts = nil
				return errors.New("an Ingress requires a port: the box has none")
			}
			return nil
		}},
	}
}

// required takes an answer that may not be missing.
func required(to *string, message string) func(string) error {
	return func(answer string) error {
		if answer == "" {
			return errors.New(message)
		}
		*to = answer
		return nil
	}
}

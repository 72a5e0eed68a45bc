// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command ociarchive packs files into a container image of one layer and writes it as an OCI archive. It needs neither
// a container engine nor a registry, and the same files always become the same bytes. "ociarchive index" joins such archives for
// several platforms.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func main() {
	if err := run(os.Args[1:]); errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "ociarchive:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == "index" {
		return runIndex(args[1:])
	}
	wanted, err := parse(args)
	if err != nil {
		return err
	}
	files, err := collect(wanted.copies)
	if err != nil {
		return err
	}
	image, err := newImage(files, wanted.platform, wanted.config)
	if err != nil {
		return err
	}
	return writeArchive(wanted.output, image, wanted.name)
}

// invocation has the parsed command line.
type invocation struct {
	name     reference.NamedTagged
	output   string
	platform v1.Platform
	config   v1.Config
	copies   []fileCopy
}

// fileCopy puts a file, or everything in a folder, at an absolute path of the image.
type fileCopy struct {
	source, destination string
}

func parse(args []string) (*invocation, error) {
	flags := flag.NewFlagSet("ociarchive", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: ociarchive [flags] <file or folder>=<absolute path in the image>...")
		flags.PrintDefaults()
	}
	name := flags.String("name", "", "`name` of the image, with or without a tag")
	output := flags.String("output", "", "`file` to write the archive to")
	platform := flags.String("platform", "", "`os/architecture` that the files run on")
	user := flags.String("user", "", "`user[:group]` that the container runs as; without it, root")
	entrypoint := flags.String("entrypoint", "", "`command` as a JSON array, as in a Dockerfile")
	wanted := &invocation{}
	flags.Func("expose", "`port[/protocol]` that the container listens on; can be repeated", func(port string) error {
		if !strings.Contains(port, "/") {
			port += "/tcp"
		}
		if wanted.config.ExposedPorts == nil {
			wanted.config.ExposedPorts = map[string]struct{}{}
		}
		wanted.config.ExposedPorts[port] = struct{}{}
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return nil, err
	}

	for _, required := range []string{"name", "output", "platform", "entrypoint"} {
		if flags.Lookup(required).Value.String() == "" {
			return nil, fmt.Errorf("-%s is required", required)
		}
	}
	wanted.output = *output
	wanted.config.User = *user

	var err error
	if wanted.name, err = parseName(*name); err != nil {
		return nil, err
	}
	parsed, err := v1.ParsePlatform(*platform)
	if err != nil {
		return nil, fmt.Errorf("reading -platform: %w", err)
	}
	wanted.platform = *parsed
	if err := json.Unmarshal([]byte(*entrypoint), &wanted.config.Entrypoint); err != nil {
		return nil, fmt.Errorf("reading -entrypoint %s: %w", *entrypoint, err)
	}

	for _, argument := range flags.Args() {
		source, destination, found := strings.Cut(argument, "=")
		if !found || source == "" || !strings.HasPrefix(destination, "/") {
			return nil, fmt.Errorf("%q is not <file or folder>=<absolute path in the image>", argument)
		}
		wanted.copies = append(wanted.copies, fileCopy{source, destination})
	}
	if len(wanted.copies) == 0 {
		return nil, errors.New("there is nothing to put into the image")
	}
	return wanted, nil
}

// parseName completes the name as container engines do, with the default registry and the tag latest.
func parseName(name string) (reference.NamedTagged, error) {
	named, err := reference.ParseDockerRef(name)
	if err != nil {
		return nil, fmt.Errorf("reading -name %s: %w", name, err)
	}
	tagged, ok := named.(reference.NamedTagged)
	if !ok {
		return nil, fmt.Errorf("reading -name %s: an image that is yet to be built has no digest", name)
	}
	return tagged, nil
}

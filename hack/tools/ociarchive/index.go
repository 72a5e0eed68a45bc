// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// runIndex joins the archives of one image for several platforms into one, and prints its name with the digest that it has in any
// registry.
func runIndex(args []string) error {
	flags := flag.NewFlagSet("ociarchive index", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: ociarchive index [flags] <archive>...")
		flags.PrintDefaults()
	}
	given := flags.String("name", "", "`name` of the image, with or without a tag")
	output := flags.String("output", "", "`file` to write the archive to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *output == "":
		return errors.New("-output is required")
	case flags.NArg() == 0:
		return errors.New("there is no archive to join")
	}
	name, err := parseName(*given)
	if err != nil {
		return err
	}

	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	var files []file
	for _, archive := range flags.Args() {
		manifests, contents, err := readArchive(archive)
		if err != nil {
			return fmt.Errorf("reading %s: %w", archive, err)
		}
		index.Manifests = append(index.Manifests, manifests...)
		for _, blob := range contents {
			// Images that have the same layer have it once.
			if !slices.ContainsFunc(files, func(other file) bool { return other.path == blob.path }) {
				files = append(files, blob)
			}
		}
	}
	joined, err := json.Marshal(index)
	if err != nil {
		return err
	}
	digest, size, err := v1.SHA256(bytes.NewReader(joined))
	if err != nil {
		return err
	}
	outer, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2,
		MediaType:     types.OCIImageIndex,
		Manifests:     []v1.Descriptor{{MediaType: types.OCIImageIndex, Digest: digest, Size: size, Annotations: nameAnnotations(name)}},
	})
	if err != nil {
		return err
	}
	files = append(files, layoutFile(), contentFile(blobPath(digest), joined), contentFile("index.json", outer))
	if err := writeWhole(*output, files); err != nil {
		return fmt.Errorf("writing %s: %w", *output, err)
	}
	fmt.Printf("%s@%s\n", *given, digest)
	return nil
}

// readArchive returns what index.json of an archive lists, without the names, and everything that is kept by its digest.
func readArchive(path string) ([]v1.Descriptor, []file, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close()
	var index *v1.IndexManifest
	var blobs []file
	for archive := tar.NewReader(opened); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, err
		}
		isBlob := header.Typeflag == tar.TypeReg && strings.HasPrefix(header.Name, "blobs/")
		if !isBlob && header.Name != "index.json" {
			continue
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return nil, nil, err
		}
		if isBlob {
			blobs = append(blobs, contentFile(header.Name, content))
		} else if err := json.Unmarshal(content, &index); err != nil {
			return nil, nil, fmt.Errorf("index.json: %w", err)
		}
	}
	if index == nil {
		return nil, nil, errors.New("it is no OCI archive: there is no index.json")
	}
	for i := range index.Manifests {
		index.Manifests[i].Annotations = nil
	}
	return index.Manifests, blobs, nil
}

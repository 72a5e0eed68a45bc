// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// The files of an export. A box, and the list of what belongs to it, are manifests.
const (
	indexFile        = "export.yaml"
	boxesFolder      = "boxes"
	childrenFolder   = "children"
	privateFile      = 0o600
	privateDirectory = 0o700
)

func (b *exportedBox) file(folder string) string {
	return filepath.Join(folder, b.Namespace, b.Name+".yaml")
}

// writeExport writes the files of an export into a directory that has none yet. The index comes last: without it, there is no
// export.
func writeExport(directory string, e *export) error {
	if _, err := os.Stat(filepath.Join(directory, indexFile)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s already has an export", directory)
	}
	for _, box := range e.Boxes {
		children := &unstructured.UnstructuredList{}
		children.SetAPIVersion("v1")
		children.SetKind("List")
		for _, child := range box.children {
			children.Items = append(children.Items, *child)
		}
		if err := errors.Join(
			writeYAML(filepath.Join(directory, box.file(boxesFolder)), box.object.Object),
			writeYAML(filepath.Join(directory, box.file(childrenFolder)), children.UnstructuredContent()),
		); err != nil {
			return err
		}
	}
	return writeYAML(filepath.Join(directory, indexFile), e)
}

// writeYAML writes a file that is there completely or not at all.
func writeYAML(path string, content any) error {
	data, err := yaml.Marshal(content)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), privateDirectory); err != nil {
		return fmt.Errorf("creating the directory of the export: %w", err)
	}
	draft := path + ".new"
	if err := os.WriteFile(draft, data, privateFile); err != nil {
		return fmt.Errorf("writing the export: %w", err)
	}
	return os.Rename(draft, path)
}

// readExport reads what writeExport has written.
func readExport(directory string) (*export, error) {
	e := &export{}
	if err := readYAML(filepath.Join(directory, indexFile), e); err != nil {
		return nil, err
	}
	for _, box := range e.Boxes {
		object, children := map[string]any{}, map[string]any{}
		if err := errors.Join(
			readYAML(filepath.Join(directory, box.file(boxesFolder)), &object),
			readYAML(filepath.Join(directory, box.file(childrenFolder)), &children),
		); err != nil {
			return nil, err
		}
		box.object = &unstructured.Unstructured{Object: object}
		if box.object.GetUID() != box.UID {
			return nil, fmt.Errorf("%s does not have the box %s with UID %s", box.file(boxesFolder), box, box.UID)
		}
		list := &unstructured.UnstructuredList{}
		list.SetUnstructuredContent(children)
		for i := range list.Items {
			box.children = append(box.children, &list.Items[i])
		}
	}
	return e, nil
}

func readYAML(path string, into any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s not found: run \"kubectl modelbox migrate export\" first", path)
	}
	if err != nil {
		return fmt.Errorf("reading the export: %w", err)
	}
	// Not yaml.Unmarshal, which takes all numbers for floating-point ones.
	if data, err = yaml.YAMLToJSON(data); err == nil {
		err = utiljson.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package set

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/kubectl/pkg/util"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// files are contents by their keys, read as "kubectl create configmap" reads them.
type files struct {
	contents map[string][]byte
}

// readFiles reads files and directories, and takes literal values. Of a directory these are the regular files.
func readFiles(fileSources, literalSources []string) (*files, error) {
	f := &files{contents: map[string][]byte{}}
	for _, source := range fileSources {
		if err := f.addSource(source); err != nil {
			return nil, err
		}
	}
	for _, source := range literalSources {
		key, value, err := util.ParseLiteralSource(source)
		if err != nil {
			return nil, err
		}
		if err := f.add(key, []byte(value)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *files) addSource(source string) error {
	key, path, err := util.ParseFileSource(source)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("error reading %s: %w", path, errors.Unwrap(err))
	case !info.IsDir():
		return f.addFile(key, path)
	case strings.Contains(source, "="):
		return errors.New("cannot give a key name for a directory path")
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("error listing files in %s: %w", path, err)
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		if err := f.addFile(entry.Name(), filepath.Join(path, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (f *files) addFile(key, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return f.add(key, content)
}

func (f *files) add(key string, content []byte) error {
	if problems := validation.IsConfigMapKey(key); len(problems) > 0 {
		return fmt.Errorf("%q is not a valid key name for a ConfigMap: %s", key, strings.Join(problems, ","))
	}
	if _, isThere := f.contents[key]; isThere {
		return fmt.Errorf("cannot add key %q, another key by that name already exists", key)
	}
	f.contents[key] = content
	return nil
}

// addTo sets the files of a config, each where it belongs.
func (f *files) addTo(config *modelv1.ModelBoxConfig) {
	for key, content := range f.contents {
		delete(config.Data, key)
		delete(config.BinaryData, key)
		if utf8.Valid(content) {
			if config.Data == nil {
				config.Data = map[string]string{}
			}
			config.Data[key] = string(content)
			continue
		}
		if config.BinaryData == nil {
			config.BinaryData = map[string][]byte{}
		}
		config.BinaryData[key] = content
	}
}

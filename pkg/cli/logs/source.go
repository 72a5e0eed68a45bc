// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// source is a box whose logs are printed, and what each line of them begins with.
type source struct {
	box    *modelv1.ModelBox
	prefix string
}

// sources returns the selected boxes, and the boxes of the selected stacks.
func (o *Options) sources(ctx context.Context) ([]source, error) {
	selected, err := o.GetObjects()
	if err != nil {
		return nil, err
	}
	if len(selected.Stacks) > 0 && o.Query.Pod != "" {
		return nil, errors.New("--pod may not be specified together with stacks: specify the box of the pod")
	}
	var sources []source
	for _, stack := range selected.Stacks {
		components, err := cliutil.Components(ctx, o.client, stack, selected.Boxes)
		if err != nil {
			return nil, err
		}
		if len(components) == 0 {
			return nil, fmt.Errorf("stack %s has no boxes", stack.Name)
		}
		for _, component := range components {
			sources = append(sources, source{component.Box, fmt.Sprintf("[%s/%s] ", stack.Name, component.Name)})
		}
	}
	for _, box := range selected.Boxes {
		sources = append(sources, source{box: box})
	}
	return sources, nil
}

// writer returns what writes the lines of one log.
func (s source) writer(out io.Writer) io.Writer {
	if s.prefix == "" {
		return out
	}
	return &prefixWriter{out: out, prefix: s.prefix}
}

// prefixWriter writes lines after a prefix. Each write is one line, or a piece of one.
type prefixWriter struct {
	out      io.Writer
	prefix   string
	isInLine bool
}

func (w *prefixWriter) Write(piece []byte) (int, error) {
	line := piece
	if !w.isInLine {
		line = slices.Concat([]byte(w.prefix), piece)
	}
	w.isInLine = !bytes.HasSuffix(piece, []byte("\n"))
	if _, err := w.out.Write(line); err != nil {
		return 0, err
	}
	return len(piece), nil
}

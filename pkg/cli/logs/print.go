// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	modelscheme "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
)

// maxPiece is how much of a line is held until its end has come, more than the server sends of one.
const maxPiece = 128 << 10

// followAll prints the logs of all boxes as they come.
func (o *Options) followAll(ctx context.Context, selected []source, out io.Writer) error {
	errs := make([]error, len(selected))
	var following sync.WaitGroup
	for i, source := range selected {
		following.Go(func() { errs[i] = o.print(ctx, source, out) })
	}
	following.Wait()
	return utilerrors.NewAggregate(errs)
}

// print prints the logs of a box until they end.
func (o *Options) print(ctx context.Context, source source, out io.Writer) error {
	box := source.box
	stream, err := o.client.ModelV1().RESTClient().Get().Namespace(box.Namespace).Resource(cliutil.Boxes).Name(box.Name).SubResource("log").
		VersionedParams(&o.Query, modelscheme.ParameterCodec).Stream(ctx)
	if apierrors.HasStatusCause(err, modelv1.PodAccessMissingCause) {
		return o.printAsUser(ctx, source, out)
	}
	if err != nil {
		return err
	}
	defer stream.Close()
	if err := copyLines(source.writer(out), stream); err != nil && ctx.Err() == nil {
		return fmt.Errorf("reading the logs of %s: %w", box.Name, err)
	}
	return nil
}

// copyLines writes each line at once, so that it is not mixed with the lines of other logs.
func copyLines(to io.Writer, from io.Reader) error {
	reader := bufio.NewReaderSize(from, maxPiece)
	for {
		line, err := reader.ReadSlice('\n')
		if len(line) > 0 {
			if _, err := to.Write(line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// lineWriter writes what several goroutines write, one after the other.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *lineWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(line)
}

// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelscheme "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
)

// OpenLogs opens the logs of a box.
func (n *Namespace) OpenLogs(ctx context.Context, config *rest.Config, box string, options *modelv1.ModelBoxLogOptions) (io.ReadCloser, error) {
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.ModelV1().RESTClient().Get().Namespace(n.Name).Resource("modelboxes").Name(box).SubResource("log").
		VersionedParams(options, modelscheme.ParameterCodec).Stream(ctx)
}

// Logs has the lines of a stream of logs, by their prefix in brackets.
type Logs struct {
	mu    sync.Mutex
	lines map[string][]string
	err   error
	ended chan struct{}
}

// ReadLogs reads a stream until it ends.
func ReadLogs(stream io.ReadCloser) *Logs {
	l := &Logs{lines: map[string][]string{}, ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		defer stream.Close()
		scanner := bufio.NewScanner(stream)
		for scanner.Scan() {
			l.add(scanner.Text())
		}
		l.err = scanner.Err()
	}()
	return l
}

func (l *Logs) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	prefix, text, ok := strings.Cut(line, "] ")
	if !ok || !strings.HasPrefix(prefix, "[") {
		prefix, text = "", line
	}
	l.lines[prefix] = append(l.lines[prefix], text)
}

// Count returns the number of lines and the number of logs.
func (l *Logs) Count() (lines, logs int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, of := range l.lines {
		lines += len(of)
	}
	return lines, len(l.lines)
}

// Await waits until the stream ends, and returns the lines of each log and the error of the stream.
func (l *Logs) Await() (map[string][]string, error) {
	<-l.ended
	return l.lines, l.err
}

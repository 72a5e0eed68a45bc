// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// keepAlive detects within a minute that the other end of a connection is gone without closing it. A log may be silent for longer.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 6}

// newLogsClient returns a client that speaks HTTP/1.1. The buffers of its connection then hold back a log that no client reads
// after some 100 KiB. A connection of HTTP/2, which many logs share, reads each log ahead by 4 MiB.
func newLogsClient(config *rest.Config) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0
	config.NextProtos = []string{"http/1.1"}
	config.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAliveConfig: keepAlive}).DialContext
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating the client for logs: %w", err)
	}
	return client, nil
}

// openLog opens the log of a container of the pod. It calls release once when the log is closed, or cannot be opened.
func (a *Access) openLog(ctx context.Context, pod types.NamespacedName, options *corev1.PodLogOptions, release func()) (io.ReadCloser, error) {
	// A connection that is kept for another log would not be counted.
	request := a.logs.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).SetHeader("Connection", "close")
	if id := audit.GetAuditIDTruncated(ctx); id != "" {
		request.SetHeader(auditinternal.HeaderAuditID, id)
	}
	stream, err := request.Stream(ctx)
	if err != nil {
		release()
		return nil, err
	}
	return &openLog{ctx, stream, sync.OnceFunc(release)}, nil
}

// openLog is a log that counts as a connection until it is closed.
type openLog struct {
	ctx context.Context // of the request
	io.ReadCloser
	release func()
}

// Read distinguishes the end of the request from the end of the log. The cluster ends a log properly when it learns that the client
// no longer reads it, and Read can see that end before the connection is closed.
func (l *openLog) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if err == io.EOF && l.ctx.Err() != nil {
		err = l.ctx.Err()
	}
	return n, err
}

func (l *openLog) Close() error {
	defer l.release()
	return l.ReadCloser.Close()
}

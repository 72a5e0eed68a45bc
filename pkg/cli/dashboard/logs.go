// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/logs"
)

// logLines is how many lines from the end of each log the page shows at first.
const logLines = 500

// newLogs returns a handler that follows the logs of the box in the path, as "kubectl modelbox logs" does. The query allContainers=true
// selects all containers.
func newLogs(f cmdutil.Factory) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &logWriter{response: w}
		command := logs.NewCommand(f, genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: (*warningWriter)(out)})
		command.SilenceErrors, command.SilenceUsage = true, true
		command.SetArgs([]string{
			"--follow", "--prefix", fmt.Sprintf("--tail=%d", logLines),
			fmt.Sprintf("--all-containers=%t", r.URL.Query().Get("allContainers") == "true"),
			"--", "modelbox/" + r.PathValue("name"),
		})
		out.end(command.ExecuteContext(r.Context()))
	})
}

// logWriter writes logs to a response, each piece at once.
type logWriter struct {
	response http.ResponseWriter

	mu        sync.Mutex
	isStarted bool
}

// Write implements io.Writer.
func (w *logWriter) Write(piece []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isStarted {
		w.isStarted = true
		w.response.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	written, err := w.response.Write(piece)
	if err != nil {
		return written, err
	}
	return written, http.NewResponseController(w.response).Flush()
}

// end ends the response. If there is an error, it responds with a Status, or aborts the response that has begun.
func (w *logWriter) end(err error) {
	switch {
	case err == nil:
	case w.isStarted:
		panic(http.ErrAbortHandler)
	default:
		writeStatus(w.response, statusOf(err))
	}
}

// statusOf returns the status of a failure, or the status in the response of the API server, if that is the cause.
func statusOf(err error) metav1.Status {
	if all := utilerrors.Aggregate(nil); errors.As(err, &all) {
		err = all.Errors()[0]
	}
	if response := apierrors.APIStatus(nil); errors.As(err, &response) && response.Status().Code != 0 {
		return response.Status()
	}
	return metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError, Message: err.Error()}
}

// warningWriter adds each line to the warnings of a response that has not begun.
type warningWriter logWriter

var _ io.Writer = &warningWriter{}

// Write implements io.Writer.
func (w *warningWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.TrimPrefix(strings.TrimSpace(string(line)), "warning: ")
	if header, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
		w.response.Header().Add("Warning", header)
	}
	return len(line), nil
}

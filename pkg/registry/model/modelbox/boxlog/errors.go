// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// inLog says which log an error is about. It is as if the API server had returned it.
func inLog(err error, pod, container string) error {
	return fmt.Errorf("container %s of pod %s: %w", container, pod, err)
}

// isEnd returns whether the server stops reading a log because it has delivered enough, or because the client no longer reads it.
func isEnd(err error) bool {
	return errors.Is(err, errLimit) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, context.Canceled)
}

// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"io"
	"net/http"
)

// StatusError is a response with another status than 200.
type StatusError struct {
	Code         int
	Status, Body string
}

// Error returns the status and the body of the response.
func (e *StatusError) Error() string { return fmt.Sprintf("%s: %s", e.Status, e.Body) }

// Answer returns the body of the response to a request. For another status than 200, it returns a StatusError.
func Answer(client *http.Client, request *http.Request) (string, error) {
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", &StatusError{Code: response.StatusCode, Status: response.Status, Body: string(body)}
	}
	return string(body), nil
}

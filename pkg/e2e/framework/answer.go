// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"io"
	"net/http"
)

// Answer returns the body of the response to a request. For another status than 200, it returns an error with the body.
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
		return "", fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), nil
}

// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package prometheus queries the Prometheus of the administrator.
package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

const (
	// Timeout is how long a query may take.
	Timeout = 10 * time.Second

	// maxAnswerBytes is many times the answer to a query whose result is a single number.
	maxAnswerBytes = 1 << 20
	// maxErrorBytes is how much of an error of Prometheus is kept.
	maxErrorBytes = 256
)

// Config is how to reach a Prometheus.
type Config struct {
	// URL is the address of the API, without "/api/v1". Empty: there is no Prometheus.
	URL string
	// CAFile is a file with the CA certificates of the server. Empty means the CA certificates of the system.
	CAFile string
	// TokenFile has the bearer token for the server, and is read again when it changes. Empty: no token.
	TokenFile string
	// WrapTransport wraps the transport of the client, as in rest.Config. It can be nil.
	WrapTransport transport.WrapperFunc
}

// Client queries a Prometheus.
type Client struct {
	http     *http.Client
	endpoint string
}

// NewClient returns a client. It sends no request.
func NewClient(config Config) (*Client, error) {
	base, err := url.Parse(config.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL of Prometheus: %w", err)
	}
	client, err := rest.HTTPClientFor(&rest.Config{
		Host:            config.URL,
		UserAgent:       rest.DefaultKubernetesUserAgent(),
		BearerTokenFile: config.TokenFile,
		TLSClientConfig: rest.TLSClientConfig{CAFile: config.CAFile},
		WrapTransport:   config.WrapTransport,
	})
	if err != nil {
		return nil, fmt.Errorf("creating a client for Prometheus: %w", err)
	}
	// The token is for this host only.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{client, base.JoinPath("api", "v1", "query").String()}, nil
}

// Error is an error with a message for the users of boxes. The message says nothing of the network of the server, which Unwrap has.
type Error struct {
	Message string
	// IsQueryRefused says that Prometheus has reported an error in the query.
	IsQueryRefused bool

	cause error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause for the log of the server, which may be nil.
func (e *Error) Unwrap() error { return e.cause }

// Query returns the current values of the series that the query selects, without their labels. A scalar is one value.
func (c *Client) Query(ctx context.Context, query string) ([]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	form := url.Values{"query": {query}, "timeout": {Timeout.String()}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, &Error{Message: "the request cannot be made", cause: err}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unanswered(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, unanswered(ctx, err)
	case len(body) > maxAnswerBytes:
		return nil, &Error{Message: fmt.Sprintf("its answer is larger than %d bytes", maxAnswerBytes)}
	case resp.StatusCode != http.StatusOK:
		return nil, refused(resp.StatusCode, body)
	}
	values, err := parseAnswer(body)
	if err != nil {
		return nil, &Error{Message: "its answer is not the answer of a Prometheus", cause: err}
	}
	return values, nil
}

// unanswered is the error of a query without an answer.
func unanswered(ctx context.Context, err error) *Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Message: fmt.Sprintf("no answer within %s", Timeout), cause: err}
	}
	return &Error{Message: "the connection failed", cause: err}
}

// refused is the error of a query that was refused. Only Prometheus itself says what is wrong with a query, and nothing else.
func refused(status int, body []byte) *Error {
	refusal := &Error{Message: fmt.Sprintf("it answers with status %d", status)}
	var answer answer
	isAboutQuery := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	if isAboutQuery && json.Unmarshal(body, &answer) == nil && answer.Status == "error" {
		refusal.IsQueryRefused = true
		refusal.Message += ": " + strings.ToValidUTF8(answer.Error[:min(len(answer.Error), maxErrorBytes)], "")
	}
	return refusal
}

// answer is the answer of the API of Prometheus to a query.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	} `json:"data"`
}

// sample is a time and a value.
type sample [2]json.RawMessage

func parseAnswer(body []byte) ([]float64, error) {
	var answer answer
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("the status is %q", answer.Status)
	}
	switch answer.Data.ResultType {
	case "scalar":
		var scalar sample
		if err := json.Unmarshal(answer.Data.Result, &scalar); err != nil {
			return nil, err
		}
		value, err := parseValue(scalar)
		return []float64{value}, err
	case "vector":
		var vector []struct {
			Value sample `json:"value"`
		}
		if err := json.Unmarshal(answer.Data.Result, &vector); err != nil {
			return nil, err
		}
		values := make([]float64, len(vector))
		for i := range vector {
			var err error
			if values[i], err = parseValue(vector[i].Value); err != nil {
				return nil, err
			}
		}
		return values, nil
	default:
		return nil, fmt.Errorf("the type of the result is %q", answer.Data.ResultType)
	}
}

// parseValue returns the value of a sample. A histogram has none.
func parseValue(s sample) (float64, error) {
	var text string
	if len(s[1]) == 0 {
		return 0, errors.New("a series has no value")
	}
	if err := json.Unmarshal(s[1], &text); err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

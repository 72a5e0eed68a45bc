// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// connectPatience is the timeout for a response of another application.
const connectPatience = 5 * time.Second

// variable returns the environment variable of a connection, such as MYSQL_HOST.
func variable(connection, part string) string {
	prefix := strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(connection))
	return os.Getenv(prefix + "_" + part)
}

// relay passes a request on to the application at the other end of a connection: "GET /via/auth/via/mysql-proxy/version".
func relay(w http.ResponseWriter, r *http.Request) {
	connection := r.PathValue("connection")
	client := &http.Client{Timeout: connectPatience}
	response, err := client.Get("http://" + variable(connection, "URL") + "/" + r.PathValue("path"))
	if err != nil {
		http.Error(w, fmt.Sprintf("%s: %v", connection, err), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
}

// connect reports whether a process listens at the other end of a connection.
func connect(w http.ResponseWriter, r *http.Request) {
	connection := r.PathValue("connection")
	address := net.JoinHostPort(variable(connection, "HOST"), variable(connection, "PORT"))
	opened, err := net.DialTimeout("tcp", address, connectPatience)
	if err != nil {
		http.Error(w, fmt.Sprintf("%s: %v", connection, err), http.StatusBadGateway)
		return
	}
	opened.Close()
	fmt.Fprintln(w, "connected to", address)
}

// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// answerTimeout is the timeout for a response of an application. It is long, because the machine may be busy.
const answerTimeout = 20 * time.Second

// nodePortURL returns the URL of a port of a box from outside of the cluster.
func nodePortURL(n *framework.Namespace, box string, port int32) string {
	n.T.Helper()
	return "http://" + nodePortAddress(n, box, port)
}

// nodePortAddress returns the IP address and the port of nodePortURL.
func nodePortAddress(n *framework.Namespace, box string, port int32) string {
	n.T.Helper()
	node, err := n.ControlPlane.KubeClient.CoreV1().Nodes().Get(n.Ctx, containerNode, metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	var host string
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			host = address.Address
		}
	}
	for _, published := range n.GetService(box).Spec.Ports {
		if published.Port == port && published.NodePort != 0 {
			return net.JoinHostPort(host, strconv.Itoa(int(published.NodePort)))
		}
	}
	n.T.Fatalf("port %d of Service %s has no node port", port, box)
	return ""
}

// visit returns the response of an application to one request over a new connection.
func visit(method, url string) (string, error) {
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		return "", err
	}
	request.Close = true
	return framework.Answer(&http.Client{Timeout: answerTimeout}, request)
}

// awaitAnswer waits until the box responds, and returns the response. A Service routes to its pods a moment after they are ready.
func awaitAnswer(n *framework.Namespace, box, path string) string {
	n.T.Helper()
	var answer string
	url := nodePortURL(n, box, 80) + path
	n.Eventually("box "+box+" answers "+path, func() (err error) {
		answer, err = visit(http.MethodGet, url)
		return err
	})
	return answer
}

// tell sends a command to the only pod of a box.
func tell(n *framework.Namespace, box, path string) {
	n.T.Helper()
	awaitAnswer(n, box, "/version")
	if _, err := visit(http.MethodPost, nodePortURL(n, box, 80)+path); err != nil {
		n.T.Fatalf("telling %s %s: %v", box, path, err)
	}
}

// expectAnswer checks the response of the box, without leading and trailing spaces.
func expectAnswer(n *framework.Namespace, box, path, want string) {
	n.T.Helper()
	framework.ExpectEqual(n.T, path+" of box "+box, want, strings.TrimSpace(awaitAnswer(n, box, path)))
}

// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

const serverAccount = "modelbox-apiserver"

// peer is a second server of a control plane. The APIService does not route to it.
type peer struct {
	*replica
	// boxes is the client of the boxes of this server.
	boxes versioned.Interface
}

// startPeer starts a second server with the flags of the first one and additional flags, and waits until it is ready.
func startPeer(t *testing.T, p *framework.ControlPlane, flags ...string) *peer {
	t.Helper()
	second := &peer{replica: newReplica(t, p, "peer", "", flags...)}
	second.start(t)

	config := rest.CopyConfig(p.Config)
	config.Host = "https://" + second.address()
	config.CAData, config.CAFile = nil, filepath.Join(p.Dir, "modelbox", "ca.crt")
	var err error
	if second.boxes, err = versioned.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	framework.Eventually(t, framework.Patience, "the second server is ready", func() error {
		return second.boxes.Discovery().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error()
	})
	return second
}

// issueServerToken returns a token of the service account of the servers, and its credential ID in the audit log.
func issueServerToken(t *testing.T, p *framework.ControlPlane) (token, credential string) {
	t.Helper()
	answer, err := p.KubeClient.CoreV1().ServiceAccounts(framework.ServerNamespace).
		CreateToken(t.Context(), serverAccount, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("requesting a token: %v", err)
	}
	parts := strings.Split(answer.Status.Token, ".")
	if len(parts) != 3 {
		t.Fatalf("a token with %d parts is not a JWT", len(parts))
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatalf("decoding a token: %v", err)
	}
	var claims struct {
		ID string `json:"jti"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatalf("decoding a token: %v", err)
	}
	if claims.ID == "" {
		t.Fatal("the token has no ID")
	}
	return answer.Status.Token, "JTI=" + claims.ID
}

// writeServerKubeconfig writes the kubeconfig of the first server to a file, with another token, and with the URL if it is not
// empty.
func writeServerKubeconfig(t *testing.T, p *framework.ControlPlane, name, token, url string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(filepath.Join(p.Dir, "modelbox", "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	}
	for _, cluster := range config.Clusters {
		cluster.Server = cmp.Or(url, cluster.Server)
	}
	path := filepath.Join(p.Dir, "modelbox", name+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p *peer) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.process.Process.Signal(signal); err != nil {
		t.Fatalf("sending %s to the second server: %v", signal, err)
	}
}

func hasCredential(request auditv1.Event, credential string) bool {
	return slices.Contains(request.User.Extra["authentication.kubernetes.io/credential-id"], credential)
}

// logs returns nil if a line of the log contains the text.
func (p *peer) logs(text string) error {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	if !strings.Contains(string(content), text) {
		return errors.New("its log does not say " + text)
	}
	return nil
}

// servedBy returns the namespace with clients of the server.
func servedBy(n *framework.Namespace, p *peer) *framework.Namespace {
	copied := *n
	copied.Boxes = p.boxes.ModelV1().ModelBoxes(n.Name)
	return &copied
}

// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
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

// peer is a second server of a control plane. The APIService does not point to it.
type peer struct {
	pid   int
	ended chan error
	// boxes are served by this very server.
	boxes versioned.Interface
	// credential marks its requests in the cluster's audit log.
	credential string
	// log and auditLog are files.
	log, auditLog string
}

// startPeer starts a second server with the flags of the first one, and with these, and returns when it is ready.
func startPeer(t *testing.T, p *framework.ControlPlane, flags ...string) *peer {
	t.Helper()
	token, credential := issueServerToken(t, p)
	kubeconfig := writeServerKubeconfig(t, p, "peer", token, "")
	port := freePort(t)
	second := &peer{
		credential: credential,
		log:        filepath.Join(p.Dir, "logs", "peer.log"),
		auditLog:   filepath.Join(p.Dir, "logs", "peer-audit.log"),
	}
	log, err := os.Create(second.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	arguments := append(commandLine(t, p.ServerPID(t)),
		fmt.Sprintf("--secure-port=%d", port),
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--audit-log-path="+second.auditLog)
	command := exec.Command(arguments[0], append(arguments[1:], flags...)...)
	command.Dir = filepath.Join(p.Dir, "modelbox")
	command.Env = append(os.Environ(), "POD_NAMESPACE="+framework.ServerNamespace)
	command.Stdout, command.Stderr = log, log
	if second.ended, err = framework.StartProcess(command, syscall.SIGKILL); err != nil {
		t.Fatalf("starting a second server: %v", err)
	}
	second.pid = command.Process.Pid
	t.Cleanup(func() {
		// Killed it ends even when it is frozen.
		if err := syscall.Kill(second.pid, syscall.SIGKILL); err == nil {
			<-second.ended
		}
	})

	config := rest.CopyConfig(p.Config)
	config.Host = fmt.Sprintf("https://127.0.0.1:%d", port)
	config.CAData, config.CAFile = nil, filepath.Join(p.Dir, "modelbox", "ca.crt")
	if second.boxes, err = versioned.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	framework.Eventually(t, framework.Patience, "the second server is ready", func() error {
		return second.boxes.Discovery().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error()
	})
	return second
}

// issueServerToken returns a token of the servers' account, and what the audit log calls it.
func issueServerToken(t *testing.T, p *framework.ControlPlane) (token, credential string) {
	t.Helper()
	answer, err := p.KubeClient.CoreV1().ServiceAccounts(framework.ServerNamespace).
		CreateToken(t.Context(), serverAccount, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("requesting a token: %v", err)
	}
	parts := strings.Split(answer.Status.Token, ".")
	if len(parts) != 3 {
		t.Fatalf("a token of %d parts is no JWT", len(parts))
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

// writeServerKubeconfig writes the kubeconfig of the first server into a file of that name, with another token, and with the
// URL if it is not empty.
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

// commandLine returns the program of a process and its arguments.
func commandLine(t *testing.T, pid int) []string {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(content), "\x00"), "\x00")
}

func (p *peer) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.pid, signal); err != nil {
		t.Fatalf("sending %s to the second server: %v", signal, err)
	}
}

// sent tells the requests of this server in the cluster's audit log from those of the first one.
func (p *peer) sent(request auditv1.Event) bool { return hasCredential(request, p.credential) }

func hasCredential(request auditv1.Event, credential string) bool {
	return slices.Contains(request.User.Extra["authentication.kubernetes.io/credential-id"], credential)
}

// logs returns nil when a line of the log contains the text.
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

// servedBy is the namespace as that server serves it.
func servedBy(n *framework.Namespace, p *peer) *framework.Namespace {
	copied := *n
	copied.Boxes = p.boxes.ModelV1().ModelBoxes(n.Name)
	return &copied
}

// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// serverAccount is the ServiceAccount of the servers.
const serverAccount = "modelbox-apiserver"

// issueServerToken returns a token of the service account of the servers, and its credential ID in the audit log.
func issueServerToken(t *testing.T, p *ControlPlane) (token, credential string) {
	t.Helper()
	answer, err := p.KubeClient.CoreV1().ServiceAccounts(ServerNamespace).
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
func writeServerKubeconfig(t *testing.T, p *ControlPlane, name, token, url string) string {
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

// HasCredential returns whether a request was sent with the credential.
func HasCredential(request auditv1.Event, credential string) bool {
	return slices.Contains(request.User.Extra["authentication.kubernetes.io/credential-id"], credential)
}

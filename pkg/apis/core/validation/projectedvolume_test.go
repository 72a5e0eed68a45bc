// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func projected(sources ...corev1.VolumeProjection) func(*corev1.PodTemplateSpec) {
	return volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}})
}

const projection = volumePath + ".projected.sources[0]"

func TestProjectedVolumes(t *testing.T) {
	secret := func(path string) corev1.VolumeProjection {
		return corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}, Items: []corev1.KeyToPath{{Key: "a", Path: path}}}}
	}
	configMap := func(name, path string) corev1.VolumeProjection {
		return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: []corev1.KeyToPath{{Key: "a", Path: path}}}}
	}
	downward := func(path string) corev1.VolumeProjection {
		return corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: path, FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}}
	}
	token := func(path string, seconds *int64) corev1.VolumeProjection {
		return corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: path, ExpirationSeconds: seconds}}
	}
	both := secret("a")
	both.ConfigMap = configMap("web", "b").ConfigMap
	check(t, []row{
		{"sources with different paths are accepted", projected(secret("a"), configMap("web", "b"), downward("c"), token("d", nil)), nil},
		{"a source is one of those there are", projected(corev1.VolumeProjection{}), []string{"Required value: " + projection}},
		{"a source is only one", projected(both), []string{"Forbidden: " + projection + ".configMap"}},
		{"a path is written once", projected(secret("a"), configMap("web", "a"), downward("a")),
			[]string{"Duplicate value: spec.volumes[0].projected.sources[1].configMap.items[0].path", "Duplicate value: spec.volumes[0].projected.sources[2].downwardAPI.items[0].path"}},
		{"a ConfigMap has a name", projected(configMap("", "a")), []string{"Required value: " + projection + ".configMap.name"}},
		{"an item has a path", projected(secret("")), []string{"Required value: " + projection + ".secret.items[0].path"}},
		{"a downward file has a path", projected(downward("")), []string{"Required value: " + projection + ".downwardAPI.items[0].path"}},
		{"the files' mode is at most 0777", volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: ptr.To[int32](0o1000)}}),
			[]string{"Invalid value: " + volumePath + ".projected.defaultMode"}},
		{"the files' user is not negative", volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultUser: ptr.To[int64](-1)}}),
			[]string{"Invalid value: " + volumePath + ".projected.defaultUser"}},
		{"a token's user is not negative", projected(corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "a", User: ptr.To[int64](-1)}}),
			[]string{"Invalid value: " + projection + ".serviceAccountToken.user"}},
		{"a token has a path", projected(token("", nil)), []string{"Required value: " + projection + ".serviceAccountToken.path"}},
		{"a token's path is relative", projected(token("/a", nil)), []string{"Invalid value: " + projection + ".serviceAccountToken.path"}},
		{"a token of ten minutes is accepted", projected(token("a", ptr.To[int64](600))), nil},
		{"a token of less than ten minutes is refused", projected(token("a", ptr.To[int64](599))), []string{"Invalid value: " + projection + ".serviceAccountToken.expirationSeconds"}},
		{"a token of more than 2^32 seconds is refused", projected(token("a", ptr.To[int64](1<<32+1))), []string{"Invalid value: " + projection + ".serviceAccountToken.expirationSeconds"}},
	})
}

func TestProjectedTrust(t *testing.T) {
	bundle := func(change func(*corev1.ClusterTrustBundleProjection)) func(*corev1.PodTemplateSpec) {
		source := &corev1.ClusterTrustBundleProjection{Path: "ca.pem"}
		change(source)
		return projected(corev1.VolumeProjection{ClusterTrustBundle: source})
	}
	bundleName := func(name string) func(*corev1.PodTemplateSpec) {
		return bundle(func(source *corev1.ClusterTrustBundleProjection) { source.Name = &name })
	}
	certificate := func(change func(*corev1.PodCertificateProjection)) func(*corev1.PodTemplateSpec) {
		source := &corev1.PodCertificateProjection{SignerName: "example.com/web", KeyType: "ED25519", CredentialBundlePath: "web.pem"}
		change(source)
		return projected(corev1.VolumeProjection{PodCertificate: source})
	}
	signer := func(name string) func(*corev1.PodTemplateSpec) {
		return certificate(func(source *corev1.PodCertificateProjection) { source.SignerName = name })
	}
	const bundlePath, certificatePath = projection + ".clusterTrustBundle", projection + ".podCertificate"
	check(t, []row{
		{"a trust bundle is accepted", bundleName("web"), nil},
		{"a signer's trust bundle is accepted", bundleName("example.com:signer:web"), nil},
		{"the trust bundles of a signer are accepted", bundle(func(source *corev1.ClusterTrustBundleProjection) {
			source.SignerName, source.LabelSelector = ptr.To("example.com/signer"), &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}), nil},
		{"a trust bundle has a name or a signer", bundle(func(*corev1.ClusterTrustBundleProjection) {}), []string{"Required value: " + bundlePath}},
		{"a trust bundle has not both", bundle(func(source *corev1.ClusterTrustBundleProjection) {
			source.Name, source.SignerName = ptr.To("web"), ptr.To("example.com/signer")
		}), []string{"Forbidden: " + bundlePath + ".signerName"}},
		{"a named trust bundle is not selected", bundle(func(source *corev1.ClusterTrustBundleProjection) {
			source.Name, source.LabelSelector = ptr.To("web"), &metav1.LabelSelector{}
		}), []string{"Forbidden: " + bundlePath + ".labelSelector"}},
		{"a trust bundle's name is not empty", bundleName(""), []string{"Required value: " + bundlePath + ".name"}},
		{"a trust bundle's name is a DNS name", bundleName("Web"), []string{"Invalid value: " + bundlePath + ".name"}},
		{"a trust bundle's signer has no slash", bundleName("example.com/signer:web"), []string{"Invalid value: " + bundlePath + ".name"}},
		{"a trust bundle's signer is not empty", bundleName(":web"), []string{"Invalid value: " + bundlePath + ".name"}},
		{"a trust bundle has a path", bundle(func(source *corev1.ClusterTrustBundleProjection) { source.Name, source.Path = ptr.To("web"), "" }),
			[]string{"Required value: " + bundlePath + ".path"}},
		{"a selector is a selector", bundle(func(source *corev1.ClusterTrustBundleProjection) {
			source.SignerName, source.LabelSelector = ptr.To("example.com/signer"), &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b c"}}
		}), []string{"Invalid value: " + bundlePath + ".labelSelector.matchLabels"}},

		{"a certificate is accepted", certificate(func(*corev1.PodCertificateProjection) {}), nil},
		{"a certificate has a signer", signer(""), []string{"Required value: " + certificatePath + ".signerName"}},
		{"a signer has a domain", signer("web"), []string{"Invalid value: " + certificatePath + ".signerName"}},
		{"a signer's domain has two labels", signer("example/web"), []string{"Invalid value: " + certificatePath + ".signerName"}},
		{"a signer's domain is one", signer("Example.com/web"), []string{"Invalid value: " + certificatePath + ".signerName"}},
		{"a signer's name is a DNS name", signer("example.com/Web"), []string{"Invalid value: " + certificatePath + ".signerName"}},
		{"a signer's domain has at most 253 characters", signer(strings.Repeat("a.", 127) + "a/web"), []string{"Too long: " + certificatePath + ".signerName"}},
		{"a certificate's key type is known", certificate(func(source *corev1.PodCertificateProjection) { source.KeyType = "RSA1024" }),
			[]string{"Unsupported value: " + certificatePath + ".keyType"}},
		{"a certificate has a path", certificate(func(source *corev1.PodCertificateProjection) { source.CredentialBundlePath = "" }), []string{"Required value: " + certificatePath}},
		{"a certificate's path is relative", certificate(func(source *corev1.PodCertificateProjection) { source.CredentialBundlePath = "/a" }),
			[]string{"Invalid value: " + certificatePath + ".credentialBundlePath"}},
		{"a certificate's files are different", certificate(func(source *corev1.PodCertificateProjection) {
			source.CredentialBundlePath, source.KeyPath, source.CertificateChainPath = "", "a", "a"
		}), []string{"Duplicate value: " + certificatePath + ".certificateChainPath"}},
		{"a certificate of an hour is accepted", certificate(func(source *corev1.PodCertificateProjection) { source.MaxExpirationSeconds = ptr.To[int32](3600) }), nil},
		{"a certificate of less than an hour is refused", certificate(func(source *corev1.PodCertificateProjection) { source.MaxExpirationSeconds = ptr.To[int32](3599) }),
			[]string{"Invalid value: " + certificatePath + ".maxExpirationSeconds"}},
		{"a certificate of more than a day is not from Kubernetes", certificate(func(source *corev1.PodCertificateProjection) {
			source.SignerName, source.MaxExpirationSeconds = "pods.kubernetes.io/web", ptr.To[int32](24*60*60+1)
		}), []string{"Invalid value: " + certificatePath + ".maxExpirationSeconds"}},
		{"a certificate's annotation has a domain", certificate(func(source *corev1.PodCertificateProjection) { source.UserAnnotations = map[string]string{"a": "b"} }),
			[]string{"Invalid value: " + certificatePath + ".userAnnotations"}},
		{"a certificate's annotations have at most 256 KiB", certificate(func(source *corev1.PodCertificateProjection) {
			source.UserAnnotations = map[string]string{"example.com/a": strings.Repeat("a", 256*1024)}
		}), []string{"Too long: " + certificatePath + ".userAnnotations"}},
	})
}

def connect(url):
    return url
